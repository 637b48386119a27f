import type { ComponentChildren } from 'preact'

interface Props {
  label: string
  /** Names of the columns; an empty one holds actions. */
  heads: readonly string[]
  /** Columns of numbers, which end at the same edge. */
  right?: readonly string[]
  /** Rows. */
  children: ComponentChildren
}

/** A table in a frame that scrolls where it is wider than the window. */
export const DataTable = ({ label, heads, right = [], children }: Props) => (
  <div class="table-frame" tabIndex={0} role="region" aria-label={`${label}, table`}>
    <table class="rows" aria-label={label}>
      <thead>
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col" class={right.includes(head) ? 'right' : undefined}>
              {head || <span class="visually-hidden">Actions</span>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
)
