/** One instruction of a Dockerfile: `COPY`, and what stands behind it. */
export interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** What lies between one FROM and the next. */
export interface Stage {
  /** Behind AS; the last one usually has none. */
  readonly alias: string | undefined;
  readonly instructions: readonly Instruction[];
}

/** Reads the stages of a Dockerfile. Knows comments, and lines that are continued; no heredocs, no ARG, no variables. */
export function readDockerfile(text: string): Stage[] {
  const stages: { alias: string | undefined; instructions: Instruction[] }[] = [];
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll('\\\n', ' ')
    .split('\n');
  for (const line of lines.filter((line) => line.trim() !== '')) {
    const [, name = '', rest = ''] = /^([A-Z]+) +(.+)$/.exec(line) ?? [];
    if (name === '') throw new Error(`no instruction of a Dockerfile: ${line}`);
    if (name === 'FROM') {
      const [, alias] = /^\S+(?: AS (\S+))?$/.exec(rest) ?? [];
      stages.push({ alias, instructions: [] });
    } else {
      stages.at(-1)?.instructions.push({ name, rest });
    }
  }
  return stages;
}

/** The words of an instruction in exec form; undefined where it is in shell form. */
export function execForm(rest: string): string[] | undefined {
  if (!rest.startsWith('[')) return undefined;
  return JSON.parse(rest) as string[];
}
