#include "outside/memwindow.h"

void jp_memwindow_open(struct jp_memwindow *w, struct jp_memsource *source)
{
	w->source = source;
	w->at = UINT64_MAX / 2 + 1; /* no process has that */
}

uint64_t jp_memwindow_word(struct jp_memwindow *w, uint64_t address)
{
	if (address - w->at >= sizeof w->words) {
		w->at = address - address % jp_memory_page;
		jp_memsource_copy(w->source, w->at, w->words, sizeof w->words);
	}
	return w->words[(address - w->at) / 8];
}
