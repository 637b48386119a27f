import { createClient } from './client.ts'

/** Compiles, or does not: the client knows every route's parameters and answers. */
export async function check() {
  const api = createClient('http://gateway')
  const schedule = await api('POST /schedules/{schedule_id}/pause', {
    params: { schedule_id: 'a' },
  })
  const [first] = await api('GET /workflows', {})
  // @ts-expect-error there is no such route
  await api('GET /nope', {})
  // @ts-expect-error a path parameter is missing
  await api('POST /schedules/{schedule_id}/pause', {})
  // @ts-expect-error a body is missing
  await api('POST /schedules', {})
  return [schedule.status, first?.version.toFixed()]
}
