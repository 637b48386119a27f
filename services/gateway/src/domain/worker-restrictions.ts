import { z } from 'zod'

const amount = z.number().min(0)
const plainText = z.string().min(1).max(255)

/** Restrictions that a worker token puts on the workers which register with it. Absent or null: none. */
export const Restrictions = z
  .object({
    /** Prefix of the worker's name. */
    name_prefix: z
      .string()
      .regex(/^[A-Za-z0-9._-]{1,128}$/)
      .nullish(),
    /** Allowed values by label; `*` allows any value. Other labels are refused. */
    labels: z.record(plainText, z.array(plainText).max(100)).nullish(),
    /** Namespaces whose executions the worker receives. */
    namespaces: z.array(plainText).max(100).nullish(),
    /** Maximum values of the registration; cores and bytes. */
    limits: z
      .object({
        max_concurrent_executions: z.int().min(1).nullish(),
        cpu: amount.nullish(),
        memory: amount.nullish(),
        disk: amount.nullish(),
        gpus: z.int().min(0).nullish(),
      })
      .nullish(),
  })
  .meta({ id: 'WorkerTokenRestrictions' })

export type Restrictions = z.output<typeof Restrictions>

/** The parts of a registration that the restrictions limit. */
export interface RestrictedClaims {
  name: string
  labels: Readonly<Record<string, string>>
  /** 0: no limit. */
  max_concurrent_executions: number
  resources: {
    cpu_total: number
    memory_total: number
    disk_total: number
    gpus: readonly unknown[]
  }
}

/** Returns the first field that the restrictions do not allow; undefined if all are allowed. */
export function firstRefusedField(
  { name, labels, ...claims }: RestrictedClaims,
  restrictions: Restrictions,
): string | undefined {
  if (!name.startsWith(restrictions.name_prefix ?? '')) return 'name'
  for (const [key, value] of Object.entries(labels))
    if (restrictions.labels && !isAllowedLabel(restrictions.labels, key, value))
      return `labels.${key}`
  return firstExceededLimit(claims, restrictions.limits ?? {})
}

function isAllowedLabel(labels: Readonly<Record<string, string[]>>, key: string, value: string) {
  const values = Object.hasOwn(labels, key) ? labels[key] : undefined
  return values !== undefined && (values.includes(value) || values.includes('*'))
}

function firstExceededLimit(
  { max_concurrent_executions, resources }: Omit<RestrictedClaims, 'name' | 'labels'>,
  limits: NonNullable<Restrictions['limits']>,
): string | undefined {
  const amounts: [field: string, claimed: number, limit: number | null | undefined][] = [
    [
      'max_concurrent_executions',
      max_concurrent_executions || Number.POSITIVE_INFINITY,
      limits.max_concurrent_executions,
    ],
    ['resources.cpu_total', resources.cpu_total, limits.cpu],
    ['resources.memory_total', resources.memory_total, limits.memory],
    ['resources.disk_total', resources.disk_total, limits.disk],
    ['resources.gpus', resources.gpus.length, limits.gpus],
  ]
  return amounts.find(([, claimed, limit]) => typeof limit === 'number' && claimed > limit)?.[0]
}
