export const mostStreams = 4;
