/** Copies text, also where the page is not served over https and the clipboard API is missing. */

/** Copies the element's text. When the browser refuses, leaves it selected and answers false. */
export async function copyText(source: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(source.textContent ?? '');
    return true;
  } catch {
    getSelection()?.selectAllChildren(source);
    return document.execCommand('copy');
  }
}
