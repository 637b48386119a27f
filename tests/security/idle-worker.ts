import { workerRecord } from '@windlass/testkit/worker-record'
import type { Answer, AuthSystem } from './auth-system.ts'

const GENERATION = 'x-svc-claim-generation'

export interface ClaimedExecution {
  execution_id: string
  generation: string
}

/** A worker that claims what it is sent and then does nothing with it. */
export async function idleWorker(
  auth: AuthSystem,
  name: string,
  labels: Record<string, string> = {},
) {
  const { session_token: token = '' } = await auth.must('POST /workers/register', {
    token: await auth.system.bootstrapToken(),
    body: workerRecord(name, { capacity: 100, labels }),
  })
  const path = `/workers/${name}`
  const leave = new AbortController()
  const sent: string[] = []
  const frames = new Map<string, string>()
  const call = (
    what: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => auth.ask(`POST ${path}/${what}`, { token, body, headers })
  const stream = await fetch(`${auth.system.url}${path}/connect`, {
    headers: { authorization: `Bearer ${token}` },
    signal: leave.signal,
  })
  const reading = read(stream, {
    ping: () => call('pong', { healthy: true }),
    execution_scheduled: (data) => {
      const { execution_id } = JSON.parse(data).context
      sent.push(execution_id)
      frames.set(execution_id, data)
    },
  }).catch(() => {})

  return {
    name,
    token,
    /** What it was sent, by execution. */
    frames,
    call,
    /** Resolves when its stream is over. */
    gone: reading,
    /** Lets it wait for the execution to be sent once more. */
    forget(execution_id: string): void {
      sent.splice(0, sent.length, ...sent.filter((id) => id !== execution_id))
    },
    /** Waits until it is sent the execution. */
    async hear(execution_id: string): Promise<void> {
      for (let i = 0; i < 400 && !sent.includes(execution_id); i++)
        await new Promise((resolve) => setTimeout(resolve, 25))
    },
    /** Waits for the execution and claims it. */
    async hold(execution_id: string): Promise<ClaimedExecution> {
      await this.hear(execution_id)
      const { status, headers, text } = await call(`claim/${execution_id}`)
      if (status !== 200) throw new Error(`claim: ${status} ${text}`)
      return { execution_id, generation: String(headers[GENERATION]) }
    },
    leave: () => leave.abort(),
  }
}

async function read(response: Response, hear: Record<string, (data: string) => unknown>) {
  let text = ''
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString()
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const [, event = ''] = /^event: (.*)$/m.exec(block) ?? []
      const [, data = ''] = /^data: (.*)$/m.exec(block) ?? []
      hear[event]?.(data)
    }
  }
}
