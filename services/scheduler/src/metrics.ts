import { counter, gauge, histogram } from '@windlass/runtime/metrics/instruments'

export const scheduleLag = histogram('windlass_schedule_lag_seconds', {
  help: 'Time from the nominal time of a tick to its firing.',
  buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3_600],
})
export const scheduleTicks = counter('windlass_schedule_ticks_total', {
  help: 'Ticks by outcome: fired; skipped, once for each range of missed ticks.',
  labels: ['outcome'],
})
export const scheduleOverdue = gauge('windlass_schedule_overdue_seconds', {
  help: 'Time since the oldest due tick that has not fired; each replica reports the same.',
})
