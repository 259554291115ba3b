/** Derives a slug. @param others characters kept besides `a-z0-9-`. @returns '' if no character can be kept. */
export function slugOf(name: string, maxLength: number, others = ''): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(new RegExp(`[^a-z0-9${others}]+`, 'g'), '-')
    .slice(0, maxLength)
    .replace(/^-+|-+$/g, '');
}
