const TRIES = 6
const FIRST_WAIT_MS = 250

/**
 * Reads a part of the console. A connection that breaks, as at a change of the network, would leave the
 * screen without its script until the page is reloaded, so it is read again for some eight seconds.
 */
export async function loadAgain<T>(load: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await load()
    } catch (error) {
      if (tries === TRIES || signal.aborted) throw error
      await new Promise((done) => setTimeout(done, FIRST_WAIT_MS * 2 ** (tries - 1)))
    }
  }
}
