import { execFileSync } from 'node:child_process';
import { GUIDE, readPage } from './pages.js';

const PROJECT = 'shop';

/** The rights of an ACL user on each line of the guide that has them, in the words of ACL SETUSER, for a project of this name. */
export function documentedRights(projectName: string): ReadonlySet<string> {
  const lines = GUIDE.flatMap((page) => readPage(page).match(/^.*'?~shop:\*'? .*$/gm) ?? []);
  return new Set(lines.map((line) => rightsIn(line).replaceAll(PROJECT, projectName)));
}

/** Reads the line as a shell does, if it is a command. */
function rightsIn(line: string): string {
  const isCommand = line.startsWith('redis-cli ');
  const text = isCommand ? execFileSync('sh', ['-c', line.replace('redis-cli', 'echo')], { encoding: 'utf8' }) : line;
  return text.replace(/^.*(?=~shop:\* )/, '').trim();
}
