/** Why a button is disabled, beside it: its title is seen with a mouse only. */
export const Refusal = ({ text }: { text: string | undefined }) =>
  text ? <span class="faint refusal">{text}</span> : null
