import { executionAddress } from '../location/address.ts'
import { Link } from './link.tsx'

/** The begin and the end of an id. */
export const shortId = (id: string): string => `${id.slice(0, 8)}…${id.slice(-6)}`

/** Link to an execution, with the begin and the end of its id. */
export const ExecutionLink = ({ id }: { id: string }) => (
  <Link to={executionAddress(id)} class="mono" title={id}>
    {shortId(id)}
  </Link>
)
