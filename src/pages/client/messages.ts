/** What the page says to its reader: errors at once, good news when there is a pause, both in one place on screen. */

import { element } from './dom.ts';

/** One message at a time: the next takes its place. */
export interface Messages {
  /** Shows an error, marks the field it is about and puts the cursor there. */
  error(text: string, field?: HTMLInputElement): void;
  /** Shows good news. */
  note(text: string): void;
  /** Shows what is worth knowing, and is neither good nor bad. */
  hint(text: string): void;
  /** Tells a screen reader what can be seen on the page. */
  announce(text: string): void;
  clear(): void;
}

/** @param fields that an error may be about. */
export function createMessages(fields: HTMLInputElement[], messageId = 'message'): Messages {
  const message = element(messageId, HTMLElement);
  const note = document.getElementById('note');
  const announcer = element('announcer', HTMLElement);

  function clear(): void {
    message.textContent = '';
    announcer.textContent = '';
    if (note) {
      note.textContent = '';
      delete note.dataset['tone'];
    }
    for (const field of fields) field.removeAttribute('aria-invalid');
  }

  return {
    clear,
    error(text, field) {
      clear();
      message.textContent = text;
      field?.setAttribute('aria-invalid', 'true');
      field?.focus();
    },
    note(text) {
      clear();
      if (note) note.textContent = text;
    },
    hint(text) {
      clear();
      if (!note) return;
      note.dataset['tone'] = 'neutral';
      note.textContent = text;
    },
    announce(text) {
      announcer.textContent = text;
    },
  };
}
