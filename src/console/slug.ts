/** Slugs as they follow from names, until they are written by hand. */

/** @param others characters that are kept besides `a-z0-9-`. @returns '' where nothing of the name can be kept. */
export function slugOf(name: string, maxLength: number, others = ''): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(new RegExp(`[^a-z0-9${others}]+`, 'g'), '-')
    .slice(0, maxLength)
    .replace(/^-+|-+$/g, '');
}
