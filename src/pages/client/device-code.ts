/** Drives the page that takes the code of a device, and leads to the page behind it. */

import { formatUserCode, normalizeUserCode } from '../../core/user-code.ts';
import type { DeviceCodePageData } from '../page-data.ts';
import { element, readPageData } from './dom.ts';
import { createMessages } from './messages.ts';

const { text } = readPageData<DeviceCodePageData>();
const code = element('user-code', HTMLInputElement);
const message = element('message', HTMLElement);
const messages = createMessages([code]);

element('device-form', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  const userCode = normalizeUserCode(code.value);
  if (!userCode) return messages.error(text.codeIncomplete, code);
  const address = new URL(location.href);
  address.searchParams.set('code', formatUserCode(userCode));
  address.hash = '';
  location.assign(address);
});

// In the middle of the code nothing is moved from under the cursor.
code.addEventListener('input', (event) => {
  const isComposing = event instanceof InputEvent && event.isComposing;
  const isDeleting = event instanceof InputEvent && event.inputType.startsWith('delete');
  if (!isComposing && !isDeleting && code.selectionStart === code.value.length) code.value = formatUserCode(code.value);
});

if (message.textContent) code.select();
