/**
 * Resolves with the name of the first stop signal, or when stdin ends if that is asked for. Further
 * signals are ignored: a terminal sends Ctrl-C to every process of a command, and npm sends it on.
 */
export function untilStopped({ orStdinCloses = false } = {}) {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => resolve(name))
    if (orStdinCloses) process.stdin.resume().once('end', () => resolve('end of stdin'))
  })
}
