/** Sentences with a value in them that stands out, and is not translated. */
import type { MessageKey, Texts } from '../../i18n/texts.ts';

/** Values are text, never markup. */
export function emphasized(text: Texts, key: MessageKey, values: Readonly<Record<string, string>>) {
  const parts = Object.entries(values).map(([name, value]) => [name, <strong translate={false}>{value}</strong>]);
  return <>{text.rich(key, Object.fromEntries(parts))}</>;
}
