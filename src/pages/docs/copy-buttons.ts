/** Adds a copy button to each code block. */
import { copyText } from '../browser/clipboard.ts';

const SHOWN_MS = 1500;

export function addCopyButtons(): void {
  for (const block of document.querySelectorAll<HTMLElement>('.prose pre')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.onclick = async () => {
      button.textContent = (await copyText(block)) ? 'Copied' : 'Press Ctrl+C';
      setTimeout(() => (button.textContent = 'Copy'), SHOWN_MS);
    };
    block.after(button);
  }
}
