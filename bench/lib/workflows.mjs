import { readFileSync } from 'node:fs'

/** Uploads one of the project's examples. */
export const upload = (url, example) => uploadSource(url, readFileSync(`examples/${example}.py`))

/** Uploads a source. */
export async function uploadSource(url, source) {
  const form = new FormData()
  form.append('file', new Blob([source]), 'workflow.py')
  const response = await fetch(`${url}/workflows`, { method: 'POST', body: form })
  if (!response.ok) throw new Error(`upload: ${response.status} ${await response.text()}`)
}

/** Runs hello-world synchronously; throws unless it completes. */
export const helloWorld = (client) => runSync(client, 'hello_world', '"World"')

/** Runs a workflow synchronously with an input as JSON text; throws unless it completes. */
export async function runSync(client, workflow, body) {
  const path = `/workflows/default/${workflow}/run/sync`
  const { status, text } = await client.request('POST', path, { body })
  if (status !== 200 || !text.includes('"COMPLETED"')) throw new Error(`${status} ${text}`)
}

const STEPS = new URL('../steps/steps.py', import.meta.url)

/** Uploads the workflows of many steps. */
const uploadSteps = (url) => uploadSource(url, readFileSync(STEPS))

/** Kinds of work: `hello`, one step; `sequential`, ten steps; `parallel`, a hundred. */
export const KINDS = {
  hello: { prepare: (url) => upload(url, 'hello_world'), run: helloWorld },
  sequential: { prepare: uploadSteps, run: (client) => runSync(client, 'sequential_steps', '10') },
  parallel: { prepare: uploadSteps, run: (client) => runSync(client, 'parallel_steps', '100') },
}

/**
 * Returns the kind of work that `WORK` names: `prepare` uploads its workflow, `run` runs it once.
 */
export function chosenWork() {
  const name = process.env.WORK ?? 'hello'
  if (!KINDS[name]) throw new Error(`WORK=${name}: use one of ${Object.keys(KINDS).join(', ')}`)
  return { name, ...KINDS[name] }
}
