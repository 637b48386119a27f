import type { ScheduleRow } from '../api/schedules.ts'

/** The rule of a schedule as it was written. */
export function ruleOf({
  schedule_type,
  schedule_config: config,
}: Pick<ScheduleRow, 'schedule_type' | 'schedule_config'>): string {
  if (typeof config.cron_expression === 'string')
    return `${config.cron_expression} ${String(config.timezone ?? 'UTC')}`
  if (typeof config.interval_seconds === 'number') return `every ${config.interval_seconds} s`
  if (typeof config.run_time === 'string') return `once at ${config.run_time}`
  return schedule_type
}

/** Kinds of rules with the member of their configuration that a form asks for. */
export const KINDS = [
  { type: 'cron', member: 'cron_expression', label: 'Cron expression', example: '0 9 * * MON-FRI' },
  { type: 'interval', member: 'interval_seconds', label: 'Seconds between runs', example: '3600' },
  { type: 'once', member: 'run_time', label: 'Time', example: '2027-01-31T09:00:00' },
] as const

export type Kind = (typeof KINDS)[number]

export const kindOf = (type: string): Kind => KINDS.find((kind) => kind.type === type) ?? KINDS[0]

/**
 * The configuration of a form. Members of an earlier configuration of the same kind that the form does
 * not show, such as `end_time`, stay.
 */
export function configOf(
  { type, member }: Kind,
  typed: { rule: string; timezone: string },
  earlier: Record<string, unknown> = {},
): Record<string, unknown> {
  const kept = earlier.type === type ? earlier : {}
  const rule = type === 'interval' ? Number(typed.rule) : typed.rule
  return { ...kept, type, [member]: rule, timezone: typed.timezone || 'UTC' }
}
