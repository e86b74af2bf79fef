import { readdir, readlink } from 'node:fs/promises';

const DESCRIPTORS_OF_LINUX = '/proc/self/fd';

/**
 * How often this process has each file open, by its path. Empty where the system does not tell. It opens none: to close
 * one again would end the locks of SQLite.
 */
export async function openFiles(): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>();
  // one by one, and not at once: there may be thousands
  for (const descriptor of await readdir(DESCRIPTORS_OF_LINUX).catch(() => [])) {
    const path = await readlink(`${DESCRIPTORS_OF_LINUX}/${descriptor}`).catch(() => '');
    times.set(path, (times.get(path) ?? 0) + 1);
  }
  return times;
}
