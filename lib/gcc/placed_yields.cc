// SPDX-License-Identifier: BSD-3-Clause
/*
 * A plugin for gcc that places yields (haul/placed.h):
 *
 *	gcc -fplugin=.../haul_placed_yields.so
 *
 * At the end of each iteration of a loop, and at the beginning of a function that calls itself:
 *
 *	if (--haul_placed_left_ < 0)
 *		haul_placed_yield_();
 *
 * Not in loops that end soon in any case, as far as the compiler can tell. Not in code of others,
 * which may be in the midst of something: functions of system headers, of files below /usr and
 * /opt, of haul's headers, and of what -fplugin-arg-haul_placed_yields-foreign=TEXT names, a part
 * of a file's name; also where they are inlined. Not in functions that have, and that are called
 * and inlined by one that has, the attribute no_instrument_function.
 *
 * The code is placed behind all of gcc's passes over trees, so that loops have been unrolled and
 * made vectors of by then, and no optimisation is prevented.
 *
 * Each function gets a note in its object, with which haul knows that a yield in its midst is safe.
 */
#include <string.h>

#include <gcc-plugin.h>
#include <plugin-version.h>

#include <tree.h>

#include <gimple.h>

#include <stringpool.h>

#include <attribs.h>
#include <cfganal.h>
#include <cfghooks.h>
#include <cfgloop.h>
#include <context.h>
#include <diagnostic-core.h>
#include <gimple-iterator.h>
#include <options.h>
#include <ssa.h>
#include <tree-cfg.h>
#include <tree-inline.h>
#include <tree-into-ssa.h>
#include <tree-pass.h>
#include <varasm.h>

/* gcc asks for this. The plugin is no part of any program. */
int plugin_is_GPL_compatible;

namespace
{

/* A loop that executes fewer statements than this in all gets no yield. A call counts as CALL. */
const unsigned SHORT = 1000, CALL = 100;

tree left_var, yield_fn;
auto_vec<const char *> foreign;

void declare()
{
	if (left_var)
		return;
	left_var = build_decl(
		UNKNOWN_LOCATION, VAR_DECL, get_identifier("haul_placed_left_"), integer_type_node);
	TREE_PUBLIC(left_var) = 1;
	DECL_EXTERNAL(left_var) = 1;
	DECL_ARTIFICIAL(left_var) = 1;
	TREE_USED(left_var) = 1;
	set_decl_tls_model(left_var, TLS_MODEL_INITIAL_EXEC);
	yield_fn = build_fn_decl(
		"haul_placed_yield_", build_function_type_list(void_type_node, NULL_TREE));
	TREE_NOTHROW(yield_fn) = 1;
	DECL_ATTRIBUTES(yield_fn) =
		tree_cons(get_identifier("cold"), NULL_TREE, DECL_ATTRIBUTES(yield_fn));
}

bool begins_with(const char *text, const char *begin)
{
	return strncmp(text, begin, strlen(begin)) == 0;
}

bool is_foreign(location_t at)
{
	const char *file = at == UNKNOWN_LOCATION ? NULL : LOCATION_FILE(at);

	if (!file)
		return false;
	if (in_system_header_at(at) || begins_with(file, "/usr/") || begins_with(file, "/opt/") ||
		strstr(file, "include/haul/") || strstr(file, "include/haul-dpdk/"))
		return true;
	for (const char *part : foreign)
		if (strstr(file, part))
			return true;
	return false;
}

bool is_foreign(tree fn)
{
	return lookup_attribute("no_instrument_function", DECL_ATTRIBUTES(fn)) ||
		is_foreign(DECL_SOURCE_LOCATION(fn));
}

/* The statement, or one of the functions that it was inlined with. */
bool is_foreign(gimple *statement)
{
	if (is_foreign(gimple_location(statement)))
		return true;
	for (tree b = gimple_block(statement); b && TREE_CODE(b) == BLOCK;
		b = BLOCK_SUPERCONTEXT(b)) {
		tree fn = inlined_function_outer_scope_p(b) ? block_ultimate_origin(b) : NULL_TREE;

		if (fn && TREE_CODE(fn) == FUNCTION_DECL && is_foreign(fn))
			return true;
	}
	return false;
}

bool has_foreign(basic_block bb)
{
	for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
		if (!is_gimple_debug(gsi_stmt(i)) && is_foreign(gsi_stmt(i)))
			return true;
	return false;
}

unsigned size_of(basic_block bb)
{
	unsigned n = 0;

	for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i)) {
		gimple *s = gsi_stmt(i);

		if (is_gimple_debug(s))
			continue;
		n += is_gimple_call(s) && !gimple_call_internal_p(s) ? CALL : 1;
	}
	return n;
}

/* True if the loop that e goes back in ends soon. */
bool is_short(edge e)
{
	class loop *l = e->dest->loop_father;
	unsigned n = 0;

	if (l->header != e->dest || !l->any_upper_bound ||
		wi::gtu_p(l->nb_iterations_upper_bound, SHORT))
		return false;
	basic_block *body = get_loop_body(l);
	for (unsigned i = 0; i < l->num_nodes; i++)
		n += body[i]->loop_father == l ? size_of(body[i]) : SHORT;
	free(body);
	return l->nb_iterations_upper_bound.to_uhwi() * n <= SHORT;
}

void place(edge e)
{
	basic_block check = split_edge(e), after = split_edge(single_succ_edge(check));
	edge straight = single_succ_edge(check);
	basic_block call = create_empty_bb(check);
	tree old_left = make_ssa_name(integer_type_node);
	tree left = make_ssa_name(integer_type_node);
	gimple_stmt_iterator at = gsi_last_bb(check);
	edge leave;

	gsi_insert_after(&at, gimple_build_assign(old_left, left_var), GSI_NEW_STMT);
	gsi_insert_after(&at,
		gimple_build_assign(left, PLUS_EXPR, old_left, integer_minus_one_node),
		GSI_NEW_STMT);
	gsi_insert_after(&at, gimple_build_assign(left_var, left), GSI_NEW_STMT);
	gsi_insert_after(&at,
		gimple_build_cond(LT_EXPR, left, integer_zero_node, NULL_TREE, NULL_TREE),
		GSI_NEW_STMT);

	straight->flags = (straight->flags & ~EDGE_FALLTHRU) | EDGE_FALSE_VALUE;
	straight->probability = profile_probability::very_likely();
	leave = make_edge(check, call, EDGE_TRUE_VALUE);
	leave->probability = profile_probability::very_unlikely();
	call->count = leave->count();
	make_single_succ_edge(call, after, EDGE_FALLTHRU);
	at = gsi_start_bb(call);
	gsi_insert_after(&at, gimple_build_call(yield_fn, 0), GSI_NEW_STMT);
	add_bb_to_loop(call, check->loop_father);
}

bool calls_itself(function *fn)
{
	basic_block bb;

	FOR_EACH_BB_FN(bb, fn)
	for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
		if (is_gimple_call(gsi_stmt(i)) && gimple_call_fndecl(gsi_stmt(i)) == fn->decl)
			return true;
	return false;
}

/* ELF note: the lengths of name and contents, the type 1, "haul", the distance from the contents to
 * this place. */
void note(function *fn)
{
	gimple_stmt_iterator at = gsi_after_labels(single_succ(ENTRY_BLOCK_PTR_FOR_FN(fn)));
	gasm *text = gimple_build_asm_vec("77:.pushsection .note.haul,\"a\",%%note\n"
					  "\t.balign 4\n"
					  "\t.long 5,4,1\n"
					  "\t.asciz \"haul\"\n"
					  "\t.balign 4\n"
					  "\t.long 77b-.\n"
					  "\t.popsection",
		NULL, NULL, NULL, NULL);

	gimple_asm_set_volatile(text, true);
	gimple_asm_set_inline(text, true);
	gsi_insert_before(&at, text, GSI_SAME_STMT);
}

const pass_data about = {GIMPLE_PASS, "haul_placed_yields", OPTGROUP_NONE, TV_NONE,
	PROP_ssa | PROP_cfg, 0, 0, 0, TODO_update_ssa | TODO_cleanup_cfg};

struct placing : gimple_opt_pass {
	explicit placing(gcc::context *ctx) : gimple_opt_pass(about, ctx)
	{
	}

	bool gate(function *fn) final
	{
		return !is_foreign(fn->decl);
	}

	unsigned execute(function *fn) final
	{
		auto_vec<edge> edges;
		basic_block bb;
		edge_iterator i;
		edge e;

		declare();
		loop_optimizer_init(AVOID_CFG_MODIFICATIONS);
		mark_dfs_back_edges();
		FOR_EACH_BB_FN(bb, fn)
		FOR_EACH_EDGE(e, i, bb->succs)
		if ((e->flags & EDGE_DFS_BACK) && !(e->flags & EDGE_COMPLEX) && !is_short(e) &&
			!has_foreign(e->dest) && !has_foreign(bb))
			edges.safe_push(e);
		if (calls_itself(fn))
			edges.safe_push(single_succ_edge(ENTRY_BLOCK_PTR_FOR_FN(fn)));
		free_dominance_info(CDI_DOMINATORS);
		for (edge each : edges)
			place(each);
		note(fn);
		loops_state_set(LOOPS_NEED_FIXUP);
		loop_optimizer_finalize();
		return 0;
	}
};

} // namespace

int plugin_init(struct plugin_name_args *info, struct plugin_gcc_version *version)
{
	struct register_pass_info where = {new placing(g), "optimized", 1, PASS_POS_INSERT_BEFORE};

	if (!plugin_default_version_check(version, &gcc_version)) {
		error("%s is for gcc %s", info->full_name, gcc_version.basever);
		return 1;
	}
	for (int i = 0; i < info->argc; i++) {
		if (strcmp(info->argv[i].key, "foreign") != 0 || !info->argv[i].value) {
			error("%<-fplugin-arg-%s-%s%>: not an argument of this plugin; it has "
			      "%<foreign=TEXT%>",
				info->base_name, info->argv[i].key);
			return 1;
		}
		foreign.safe_push(info->argv[i].value);
	}
	/* It would make one of a function that gets yields and of an equal one that must not. */
	flag_ipa_icf_functions = 0;
	register_callback(info->base_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &where);
	return 0;
}
