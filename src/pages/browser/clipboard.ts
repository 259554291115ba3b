/** Copies text, with a fallback for pages without https, where the clipboard API is missing. */

/** Copies the element's text. If the browser refuses, leaves it selected and returns false. */
export async function copyText(source: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(source.textContent ?? '');
    return true;
  } catch {
    getSelection()?.selectAllChildren(source);
    return document.execCommand('copy');
  }
}
