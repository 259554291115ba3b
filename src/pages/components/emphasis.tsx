/** Renders messages with emphasized values that are not translated. */
import type { MessageKey, Texts } from '../../i18n/texts.ts';

/** Values are inserted as text, never as markup. */
export function emphasized(text: Texts, key: MessageKey, values: Readonly<Record<string, string>>) {
  const parts = Object.entries(values).map(([name, value]) => [name, <strong translate={false}>{value}</strong>]);
  return <>{text.rich(key, Object.fromEntries(parts))}</>;
}
