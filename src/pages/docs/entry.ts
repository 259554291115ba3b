/** Browser entry point of the documentation: copy buttons and search. */
import { addCopyButtons } from './copy-buttons.ts';
import { startSearch } from './search-field.ts';

addCopyButtons();
startSearch();
