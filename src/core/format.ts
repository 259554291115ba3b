/** Fills placeholders in error sentences for programs; texts for people are ICU messages (i18n/texts.ts). */

/** Replaces each `{name}` once: placeholders without a value or inside one stay. Returns plain text, not HTML. */
export function format(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : placeholder,
  );
}

/** The names of a text's placeholders: `'code' | 'app'` for `{code} is your {app} code`. */
export type PlaceholdersOf<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PlaceholdersOf<Rest>
  : never;
