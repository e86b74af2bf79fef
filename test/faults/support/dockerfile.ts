/** One instruction of a Dockerfile: its name, such as `COPY`, and its arguments. */
export interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** The instructions between one FROM and the next. */
export interface Stage {
  /** The name after AS. The last stage usually has none. */
  readonly alias: string | undefined;
  readonly instructions: readonly Instruction[];
}

/** Reads the stages of a Dockerfile. It supports comments and continued lines, but no heredocs, no ARG and no variables. */
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

/** The words of an instruction in exec form. Undefined for the shell form. */
export function execForm(rest: string): string[] | undefined {
  if (!rest.startsWith('[')) return undefined;
  return JSON.parse(rest) as string[];
}
