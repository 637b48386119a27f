/** Why an act failed, announced to screen readers; nothing if it did not. */
export const FailureText = ({ text }: { text: string | undefined }) =>
  text ? (
    <p class="failure-text" role="alert">
      {text}
    </p>
  ) : null
