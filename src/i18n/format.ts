/** Fills the placeholders of a catalogue text. Kept apart from the catalogues so that browser scripts can carry it. */

/**
 * Replaces each `{name}` by its value, once: a value that itself looks like a placeholder is left as it is, and so is
 * a placeholder without a value. The result is plain text, not HTML.
 */
export function format(template: string, values: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : placeholder,
  );
}
