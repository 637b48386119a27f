import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { cpuLimit } from './cpu-limit.ts'

/** A root folder with these files. */
function fileSystem(files: Record<string, string>): string {
  const root = mkdtempSync(path.join(os.tmpdir(), 'windlass-cpu-limit-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true })
    writeFileSync(path.join(root, file), text)
  }
  return root
}

test.each([
  ['no control groups', {}, Infinity],
  [
    'version 2, a group with a limit',
    { 'proc/self/cgroup': '0::/a/b\n', 'sys/fs/cgroup/a/b/cpu.max': '25000 100000\n' },
    0.25,
  ],
  [
    'version 2, a group without a limit',
    { 'proc/self/cgroup': '0::/a\n', 'sys/fs/cgroup/a/cpu.max': 'max 100000\n' },
    Infinity,
  ],
  [
    'version 2, an enclosing group with a lower limit',
    {
      'proc/self/cgroup': '0::/a/b\n',
      'sys/fs/cgroup/a/cpu.max': '50000 100000\n',
      'sys/fs/cgroup/a/b/cpu.max': '75000 100000\n',
    },
    0.5,
  ],
  [
    'version 2, a container whose group is mounted as the root',
    { 'proc/self/cgroup': '0::/pod/1\n', 'sys/fs/cgroup/cpu.max': '150000 100000\n' },
    1.5,
  ],
  [
    'version 1, a group with a limit',
    {
      'proc/self/cgroup': '4:memory:/x\n2:cpu,cpuacct:/a\n0::/\n',
      'sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us': '15000\n',
      'sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us': '100000\n',
    },
    0.15,
  ],
  [
    'version 1, a group without a limit',
    {
      'proc/self/cgroup': '1:cpu:/\n0::/\n',
      'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
      'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
    },
    Infinity,
  ],
  [
    'files with other content',
    { 'proc/self/cgroup': 'x\n0::/a\n', 'sys/fs/cgroup/a/cpu.max': 'x y z' },
    Infinity,
  ],
])('%s: the lowest limit', (_, files, limit) => {
  expect(cpuLimit(fileSystem(files as Record<string, string>))).toBe(limit)
})
