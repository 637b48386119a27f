import { readFileSync } from 'node:fs'
import { Client } from '../lib/http.mjs'
import { closedLoop } from '../lib/load.mjs'
import { helloWorld, runSync, upload, uploadSource } from '../lib/workflows.mjs'

const STEPS = new URL('../steps/steps.py', import.meta.url)

/** Windlass itself: synchronous runs over HTTP. */
export async function startWindlass({ url, pids, children }) {
  await upload(url, 'hello_world')
  await uploadSource(url, readFileSync(STEPS))
  const client = new Client(url)
  const works = {
    hello: () => helloWorld(client),
    steps: () => runSync(client, 'sequential_steps', '10'),
  }
  return {
    version: 'this one',
    pids,
    processes: children,
    load: ({ work, ...load }) => closedLoop(works[work], load),
    close: () => client.close(),
  }
}
