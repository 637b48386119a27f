const GRACE_MS = 60_000

/**
 * Runs a load of a peer. Rejects if one of its processes ends meanwhile, or if the load takes a minute longer than it
 * should: a request to a worker that has ended may wait for ever.
 */
export async function guarded({ name, load, processes }, order, graceMs = GRACE_MS) {
  const ends = processes.map(async (one) => {
    const { code, signal } = await one.exited
    throw new Error(`${name}: its process ${one.name} ended (${signal ?? code})`)
  })
  const { work, inFlight, seconds } = order
  const limitMs = seconds * 1_000 + graceMs
  const late = `${name}: ${work} at ${inFlight} in flight did not end within ${limitMs / 1_000} s`
  return within(limitMs, Promise.race([load(order), ...ends]), late)
}

/** Rejects with an error if `promise` takes longer. */
export async function within(ms, promise, message) {
  let timer
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(message)), ms)
  })
  try {
    return await Promise.race([promise, limit])
  } finally {
    clearTimeout(timer)
  }
}
