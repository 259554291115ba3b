/** The name a person is shown under. */
interface Names {
  readonly fullName: string | null;
  readonly givenName: string | null;
  readonly familyName: string | null;
  /** From before profiles had parts. */
  readonly name: string | null;
}

/** The full name, else the parts joined, else the legacy name. */
export function displayName({ fullName, givenName, familyName, name }: Names): string | null {
  return fullName ?? ([givenName, familyName].filter(Boolean).join(' ') || name);
}
