import type { Settings } from '@windlass/runtime/config/settings'
import { Fault } from '@windlass/runtime/faults'
import { z } from 'zod'
import { hasDemo, killDemoWorkers } from '../clients/demo-control.ts'
import { route } from '../route/route.ts'

export const crashWorker = route('post', '/demo/crash-worker', {
  summary: 'Kill the workers of npm start, to see their work continue; 404 on any other server',
  access: 'authenticated',
  returns: z
    .object({
      /** Processes that were killed; each is started again. */
      killed: z.int().min(0),
    })
    .meta({ id: 'CrashedWorkers', examples: [{ killed: 1 }] }),
  async handle(_, { settings }: { settings: Settings }) {
    if (!hasDemo(settings)) throw new Fault('not_found', 'Not Found')
    return { killed: await killDemoWorkers(settings.console.demo_url) }
  },
})
