import { useQuery } from '../api/use-query.ts'
import { listVersions } from '../api/workflows.ts'
import { navigate } from '../location/location.ts'

interface Props {
  namespace: string
  name: string
  /** Undefined: none is chosen. */
  version: string | undefined
  /** Name of the choice of none; absent where one is always chosen. */
  none?: string
  /** The address with another version. */
  to: (version: string) => string
}

/** The version of a workflow, which is part of the address. */
export function VersionChoice({ namespace, name, version, none, to }: Props) {
  const { data } = useQuery(`versions ${namespace}/${name}`, (signal) =>
    listVersions(namespace, name, signal),
  )
  const versions = data?.map((one) => String(one.version)) ?? (version ? [version] : [])
  return (
    <label class="text-filter">
      <span>Version</span>
      <select value={version ?? ''} onChange={(event) => navigate(to(event.currentTarget.value))}>
        {none !== undefined && <option value="">{none}</option>}
        {versions.map((one, i) => (
          <option key={one} value={one}>
            {one}
            {i === 0 && data ? ' (latest)' : ''}
          </option>
        ))}
      </select>
    </label>
  )
}
