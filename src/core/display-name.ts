/** The name a person is shown under. */
interface Names {
  readonly fullName: string | null;
  readonly givenName: string | null;
  readonly familyName: string | null;
  /** The legacy name, from before profiles had parts. */
  readonly name: string | null;
}

export function displayName({ fullName, givenName, familyName, name }: Names): string | null {
  if (fullName !== null) return fullName;
  return givenName && familyName ? `${givenName} ${familyName}` : givenName || familyName || name;
}
