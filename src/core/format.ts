/** Fills the placeholders of a sentence that an error says to programs; what people read is an ICU message (i18n/texts.ts). */

/**
 * Replaces each `{name}` by its value, once: a value that itself looks like a placeholder is left as it is, and so is
 * a placeholder without a value. The result is plain text, not HTML.
 */
export function format(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : placeholder,
  );
}

/** The names of a text's placeholders: `'code' | 'app'` for `{code} is your {app} code`. */
export type PlaceholdersOf<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PlaceholdersOf<Rest>
  : never;
