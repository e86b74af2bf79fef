import { existsSync, readFileSync } from 'node:fs';
import { type Warning } from '../listeners.js';

const MOUNTS_OF_LINUX = '/proc/self/mountinfo';

/**
 * File systems that several hosts share, a virtual machine and its host too, by the names of Linux. A lock of one may
 * not hold on another, and their processes share no memory, which WAL needs: files on virtiofs get corrupt.
 */
const NETWORKS =
  /^(nfs4?|smbfs|smb3|cifs|9p|ceph|afs|lustre|vboxsf|virtiofs|fakeowner|fuse\.(virtiofs|grpcfuse|osxfs|sshfs|s3fs|gcsfuse|rclone|glusterfs|ceph.*))$/;

interface Mount {
  /** The name of its file system. */
  readonly type: string;
  /** Where it is, without a slash at the end. */
  readonly point: string;
}

/** The innermost mount of a path without links. Undefined: the system does not tell. */
export function mountOf(path: string, mounts = mountsOfSystem()): Mount | undefined {
  const [mount] = [...mounts.matchAll(/^(?:\S+ ){4}(\S+) .*? - (\S+)/gm)]
    .map(([, point = '', type = '']) => ({ type, point: point.replaceAll('\\040', ' ').replace(/\/$/, '') }))
    .filter(({ point }) => `${path}/`.startsWith(`${point}/`))
    // of two at one point the later one counts
    .reverse()
    .sort((a, b) => b.point.length - a.point.length);
  return mount;
}

/** Why processes cannot share a file, by its path without links. Undefined: they can. */
export function mountMistake(path: string, mount = mountOf(path)): string | undefined {
  if (mount?.point === path)
    return 'is mounted without its folder, so each container has its own -wal beside it: mount the folder';
  if (mount !== undefined && NETWORKS.test(mount.type))
    return `is on ${mount.type}, which hosts share: name a file on a local disk, in Docker on a named volume`;
  return undefined;
}

/** The layer of a container is no place for a file that others share. Undefined: it is on another file system. */
export function mountWarning(path: string, mount = mountOf(path)): Warning | undefined {
  if (!/^(fuse\.fuse-)?overlay(fs)?$/.test(mount?.type ?? '')) return undefined;
  const message = `keeps ${path} in the layer of a container, which no other container sees, and which is gone with it. Mount a volume, and name a file on it`;
  return { code: 'FILE_IN_CONTAINER', message };
}

function mountsOfSystem(): string {
  return existsSync(MOUNTS_OF_LINUX) ? readFileSync(MOUNTS_OF_LINUX, 'utf8') : '';
}
