import { readFileSync } from 'node:fs'

/** Uploads one of the project's examples. */
export async function upload(url, example) {
  const form = new FormData()
  form.append('file', new Blob([readFileSync(`examples/${example}.py`)]), `${example}.py`)
  const response = await fetch(`${url}/workflows`, { method: 'POST', body: form })
  if (!response.ok) throw new Error(`upload: ${response.status} ${await response.text()}`)
}
