/** Browser entry point of pages that need a script for nothing but their language switch. */
import { reloadIn } from './reload-in.ts';

const languages = document.querySelector<HTMLSelectElement>('#language');
languages?.addEventListener('change', () => reloadIn(languages.value));
