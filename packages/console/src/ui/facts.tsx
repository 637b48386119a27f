import type { ComponentChildren } from 'preact'

/** Names with their values. */
export const Facts = ({
  facts,
}: {
  facts: readonly (readonly [name: string, value: ComponentChildren])[]
}) => (
  <dl class="card facts">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
