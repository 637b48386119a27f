import { count } from '../format/time.ts'
import { navigate } from '../location/location.ts'
import { Icon } from './icon.tsx'

interface Props {
  offset: number
  limit: number
  /** Rows of this page. */
  shown: number
  /** Rows of all pages; there may be more unless `isExact`. */
  total: number
  isExact?: boolean
  /** The address of the page that begins with this row. */
  to: (offset: number | undefined) => string
}

/** Pages of a list whose newest rows come first; nothing if one page holds all. */
export function Pager({ offset, limit, shown, total, isExact = true, to }: Props) {
  if (offset === 0 && total <= limit) return null
  const at = (row: number) => {
    navigate(to(row > 0 ? row : undefined))
    document.getElementById('main')?.scrollTo(0, 0)
  }
  return (
    <nav class="pager" aria-label="Pages">
      <span class="num">
        {count(Math.min(offset + 1, total))}–{count(offset + shown)} of{' '}
        {isExact ? '' : 'more than '}
        {count(total)}
      </span>
      <button type="button" disabled={offset === 0} onClick={() => at(offset - limit)}>
        <Icon name="left" /> Newer
      </button>
      <button
        type="button"
        disabled={isExact && offset + limit >= total}
        onClick={() => at(offset + limit)}
      >
        Older <Icon name="right" />
      </button>
    </nav>
  )
}
