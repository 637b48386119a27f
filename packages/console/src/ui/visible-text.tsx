import { visibleParts } from '../format/visible.ts'

/** Text from other users: its control characters are shown as signs, and its direction ends with it. */
export const VisibleText = ({ text }: { text: string }) => (
  <bdi>
    {visibleParts(text).map((part, i) =>
      part.isMark ? (
        <span key={i} class="sign">
          {part.text}
        </span>
      ) : (
        part.text
      ),
    )}
  </bdi>
)
