import { describe, expect, it } from '@jest/globals';
import { mountMistake, mountOf, mountWarning } from './mount-of.js';

const mountsOf = (type: string) => `
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:40 / /mnt rw - autofs systemd-1 rw
31 30 0:41 /jobs /mnt rw,relatime shared:2 master:1 - ${type} host:/jobs rw
32 31 0:42 / /mnt/my\\040disk rw,relatime - ext4 /dev/vdb rw
`;

const mistakeOf = (path: string, type: string) => mountMistake(path, mountOf(path, mountsOf(type)));

describe('A network file system', () => {
  it.each([
    ...['nfs', 'nfs4', 'smb3', 'cifs', '9p', 'ceph', 'afs', 'lustre', 'vboxsf', 'virtiofs', 'fakeowner'],
    ...['fuse.virtiofs', 'fuse.grpcfuse', 'fuse.sshfs', 'fuse.s3fs', 'fuse.ceph-fuse'],
  ])('is %s', (type) => {
    expect(mistakeOf('/mnt/jobs.db', type)).toMatch(`is on ${type}, which hosts share`);
  });

  it.each(['ext4', 'xfs', 'overlay', 'tmpfs', 'fuse.fuse-overlayfs', 'fuseblk', 'gpfs', 'ocfs2'])(
    'is not %s',
    (type) => {
      expect(mistakeOf('/mnt/jobs.db', type)).toBeUndefined();
    },
  );

  it.each([
    ['/mnt', 'nfs'],
    ['/mnt/my disk/jobs.db', 'ext4'],
    ['/mnt2/jobs.db', 'ext4'],
  ])('is that of the innermost mount: %s is on %s', (path, type) => {
    expect(mountOf(path, mountsOf('nfs'))).toMatchObject({ type });
  });

  it('is unknown where the system does not tell', () => {
    expect(mountOf('/mnt/jobs.db', '')).toBeUndefined();
  });
});

it('A file that is a mount itself is refused', () => {
  expect(mistakeOf('/mnt', 'ext4')).toMatch('mount the folder');
});

it.each([
  ['overlay', 'FILE_IN_CONTAINER'],
  ['fuse.fuse-overlayfs', 'FILE_IN_CONTAINER'],
  ['ext4', undefined],
])('A file on %s has the warning %s', (type, code) => {
  const path = '/mnt/jobs.db';
  expect(mountWarning(path, mountOf(path, mountsOf(type)))?.code).toBe(code);
});
