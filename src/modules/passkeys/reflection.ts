/** Loads what the WebAuthn library's certificate code needs first. */
import 'reflect-metadata';
