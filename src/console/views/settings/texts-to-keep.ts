/** Turns typed texts of a form into what is sent: without outer blanks, null for an empty one, which removes it. */
export function textsToKeep<Name extends string>(
  changed: Partial<Readonly<Record<Name, string>>>,
): Partial<Record<Name, string | null>> {
  const entries = Object.entries<string | undefined>(changed).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, text.trim() || null]],
  );
  return Object.fromEntries(entries);
}
