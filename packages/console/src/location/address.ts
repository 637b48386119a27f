/** Addresses of the screens, relative to the console. */

type Values = Record<string, string | number | undefined>

/** A path with a query; empty and undefined values are left out. */
export function address(path: string, values: Values = {}): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && value !== '') query.set(name, String(value))
  return query.size === 0 ? path : `${path}?${query}`
}

/** The same address with other values; those that are undefined or empty are removed. */
export function changed(path: string, query: URLSearchParams, values: Values): string {
  return address(path, { ...Object.fromEntries(query), ...values })
}

const part = encodeURIComponent

export const executionAddress = (id: string, values?: Values) =>
  address(`executions/${part(id)}`, values)
/** Comparison of an execution with another one, or the choice of the other one. */
export const compareAddress = (id: string, other?: string) =>
  address(['compare', part(id), ...(other ? [part(other)] : [])].join('/'))
/** Fork of an execution after an entry of its log. */
export const forkAddress = (id: string, entry: string, version?: string) =>
  address(`fork/${part(id)}`, { entry, version })
export const workflowAddress = (namespace: string, name: string, values?: Values) =>
  address(`workflows/${part(namespace)}/${part(name)}`, values)
export const startAddress = (namespace: string, name: string, values?: Values) =>
  address(`start/${part(namespace)}/${part(name)}`, values)
export const principalAddress = (subject: string, issuer: string) =>
  address(`access/${part(subject)}`, { issuer })
export const roleAddress = (name: string) => address(`roles/${part(name)}`)
/** Address of a secret or a config. */
export const entryAddress = (kind: string, name: string) => address(`${kind}/${part(name)}`)
export const scheduleAddress = (id: string) => address(`schedules/${part(id)}`)
export const workerAddress = (name: string) => address(`workers/${part(name)}`)

/** Decoded segments of a path; one that cannot be decoded stays as it is. */
export function segmentsOf(path: string): string[] {
  return path.split('/').map((segment) => {
    try {
      return decodeURIComponent(segment)
    } catch {
      return segment
    }
  })
}

/** A whole number of a query from 0, or the default for anything else. */
export function wholeOf(text: string | null, otherwise: number, most = 1_000_000): number {
  return text !== null && /^\d{1,9}$/.test(text) ? Math.min(Number(text), most) : otherwise
}
