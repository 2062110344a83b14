#include "trunk.h"

#include <math.h>
#include <stdlib.h>

/* The arrows of a node, without one to itself. */
struct joint {
	size_t in, out;
	size_t callee; /* of the last arrow out */
	bool whole;    /* that arrow has all but a hundredth of what the node has */
	bool loop;
};

static void count_joints(const struct jprof_graph *graph, const struct dot_effort *effort, struct joint *joints)
{
	for (size_t i = 0; i < jprof_graph_edges(graph); i++) {
		const struct jprof_edge *e = jprof_graph_edge(graph, i);
		const struct jprof_node *from = jprof_graph_node(graph, e->from);
		if (!effort->arrows[i])
			continue;
		joints[e->from].loop |= e->from == e->to;
		if (e->from == e->to)
			continue;
		joints[e->from].out++;
		joints[e->from].callee = e->to;
		joints[e->from].whole = fabs(e->value - from->cum) <= fabs(from->cum) / 100;
		joints[e->to].in++;
	}
}

static bool passes_on(const struct jprof_graph *graph, const struct joint *joint, size_t node)
{
	return !joint->loop && joint->out == 1 && joint->whole && jprof_graph_node(graph, node)->flat == 0;
}

/* Hides the chain that begins at a node without callers. */
static void hide_chain(const struct jprof_graph *graph, const struct joint *joints, size_t root,
                       struct dot_trunk *trunk)
{
	size_t node = root, before = trunk->count;
	while (passes_on(graph, &joints[node], node) && (node == root || joints[node].in == 1)) {
		trunk->nodes[trunk->count++] = node;
		node = joints[node].callee;
	}
	if (!joints[node].out && joints[node].in < 2) /* there is no fork: it is all there is */
		trunk->count = before;
	trunk->chains += trunk->count > before;
	for (size_t i = before; i < trunk->count; i++)
		trunk->hidden[trunk->nodes[i]] = true;
}

int dot_trunk_find(const struct jprof_graph *graph, const struct dot_effort *effort, bool wanted,
                   struct dot_trunk *trunk)
{
	size_t count = jprof_graph_nodes(graph);
	struct joint *joints = calloc(count + 1, sizeof *joints);
	*trunk = (struct dot_trunk){ .hidden = calloc(count + 1, sizeof *trunk->hidden),
		                     .nodes = calloc(count + 1, sizeof *trunk->nodes) };
	bool good = joints && trunk->hidden && trunk->nodes;
	if (good && wanted)
		count_joints(graph, effort, joints);
	for (size_t i = 0; good && wanted && i < count; i++)
		if (!joints[i].in)
			hide_chain(graph, joints, i, trunk);
	free(joints);
	if (!good)
		dot_trunk_release(trunk);
	return good ? 0 : -1;
}

void dot_trunk_release(struct dot_trunk *trunk)
{
	free(trunk->hidden);
	free(trunk->nodes);
	*trunk = (struct dot_trunk){ 0 };
}
