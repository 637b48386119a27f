// Ends the processes of a supervisor that could not end them itself (`kill -9`, a crash).
// The supervisor holds the other end of this process's stdin and writes one line per child:
// `+ <pid> <born> <stop signal>` when it starts and `- <pid>` when it has ended. When the pipe
// closes, what is still on the list is stopped. The kernel closes it, however the supervisor died.
import readline from 'node:readline'
import { type ProcessId, signal, untilGone } from '../../packages/runtime/src/process/pids.ts'

const STOP_LIMIT_MS = 10_000

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {})

const children = new Map<number, ProcessId & { stopWith: NodeJS.Signals }>()
for await (const line of readline.createInterface({ input: process.stdin })) {
  const [sign, pid, born, stopWith] = line.split(' ')
  if (sign === '+')
    children.set(Number(pid), { pid: Number(pid), born, stopWith: stopWith as NodeJS.Signals })
  else children.delete(Number(pid))
}

const left = await untilGone([...children.values()], 0)
for (const child of left) signal(child.pid, child.stopWith)
for (const child of await untilGone(left, STOP_LIMIT_MS)) signal(child.pid, 'SIGKILL')
