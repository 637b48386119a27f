import { Client } from '../lib/http.mjs'
import { closedLoop } from '../lib/load.mjs'
import { KINDS } from '../lib/workflows.mjs'

/** Windlass itself: synchronous runs over HTTP. */
export async function startWindlass({ url, pids, children }) {
  const works = { hello: KINDS.hello, steps: KINDS.sequential }
  for (const { prepare } of Object.values(works)) await prepare(url)
  const client = new Client(url)
  return {
    version: 'this one',
    pids,
    processes: children,
    load: ({ work, ...load }) => closedLoop(() => works[work].run(client), load),
    close: () => client.close(),
  }
}
