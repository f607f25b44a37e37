/** Bytes of ASCII that readers and writers of rows look for. */
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const EQUALS = 0x3d;
export const OPENING = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSING = 0x5d;
export const OPENING_BRACE = 0x7b;
export const DELETE = 0x7f;
