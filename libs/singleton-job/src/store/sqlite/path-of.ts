import path, { type PlatformPath } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The file of `sqlite:./jobs.db`, taken as it is, or of the URL `sqlite:///var/lib/my%20jobs.db`, whose escapes are
 * read.
 *
 * @throws Error if it names no file, or has a host or parameters. Also for the URL of a file at the root of the disk:
 * to other libraries that is one in the working directory.
 */
export function pathOf(connection: string, paths: PlatformPath = path): string {
  const file = connection.replace(/^sqlite:/i, '');
  if (/^$|[/\\]$|^file:|^:memory:|^(\/\/|\\\\)[^/]|^\/\/.*#|^\/\/\/(\.|[^/]+$)|\?/.test(file))
    throw new Error(`no path of a file: ${file}`);
  const isUrl = file.startsWith('//');
  return paths.resolve(isUrl ? fileURLToPath(`file:${file}`, { windows: paths.sep === '\\' }) : file);
}
