import { workerRecord } from '@windlass/testkit/worker-record'
import type { Answer, AuthSystem } from './auth-system.ts'

const GENERATION = 'x-svc-claim-generation'

export interface ClaimedExecution {
  execution_id: string
  generation: string
}

/** Connects a worker that claims work on request and then does nothing with it. */
export async function idleWorker(
  auth: AuthSystem,
  name: string,
  labels: Record<string, string> = {},
  registrationToken?: string,
) {
  const { session_token: token = '' } = await auth.requestOk('POST /workers/register', {
    token: registrationToken ?? (await auth.system.bootstrapToken()),
    body: workerRecord(name, { capacity: 100, labels }),
  })
  const path = `/workers/${name}`
  const disconnect = new AbortController()
  const sent: string[] = []
  const frames = new Map<string, string>()
  const call = (
    what: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => auth.request(`POST ${path}/${what}`, { token, body, headers })
  const stream = await fetch(`${auth.system.url}${path}/connect`, {
    headers: { authorization: `Bearer ${token}` },
    signal: disconnect.signal,
  })
  const reading = read(stream, {
    // A pong in flight when the system stops fails, which is no error of the test.
    ping: () => call('pong', { healthy: true }).catch(() => {}),
    execution_scheduled: (data) => {
      const { execution_id } = JSON.parse(data).context
      sent.push(execution_id)
      frames.set(execution_id, data)
    },
  }).catch(() => {})

  return {
    name,
    token,
    /** Dispatch frames by execution. */
    frames,
    call,
    /** Resolves when its stream has ended. */
    closed: reading,
    /** Forgets the frame, so that the next `claim` waits for another one. */
    forget(execution_id: string): void {
      sent.splice(0, sent.length, ...sent.filter((id) => id !== execution_id))
    },
    /** Waits for the execution's frame. */
    async waitForFrame(execution_id: string): Promise<void> {
      for (let i = 0; i < 400 && !sent.includes(execution_id); i++)
        await new Promise((resolve) => setTimeout(resolve, 25))
    },
    /** Waits for the execution and claims it. */
    async claim(execution_id: string): Promise<ClaimedExecution> {
      await this.waitForFrame(execution_id)
      const { status, headers, text } = await call(`claim/${execution_id}`)
      if (status !== 200) throw new Error(`claim: ${status} ${text}`)
      return { execution_id, generation: String(headers[GENERATION]) }
    },
    disconnect: () => disconnect.abort(),
  }
}

async function read(response: Response, handlers: Record<string, (data: string) => unknown>) {
  let text = ''
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString()
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const [, event = ''] = /^event: (.*)$/m.exec(block) ?? []
      const [, data = ''] = /^data: (.*)$/m.exec(block) ?? []
      handlers[event]?.(data)
    }
  }
}
